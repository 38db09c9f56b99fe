"""A headless Chromium that shows local pages: sizes of windows, dark mode, scripts of a test, pictures.

It is driven by the DevTools protocol over two pipes, so that nothing but Python and Chromium is needed.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find() -> str | None:
    """The program, or None if there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Chromium:
    """A browser with one page. `complaints` are the messages of its console, and errors of the network."""

    def __init__(self, program: str):
        self.complaints: list[str] = []
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        # The protocol is on the descriptors 3 and 4. A sandbox needs rights that root in a container does not have.
        # The shared memory of a container may be too small.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--remote-debugging-pipe", f"--user-data-dir={self._folder.name}", "about:blank"]
        self._process = subprocess.Popen(["bash", "-c", script, "bash", program, *arguments],
                                         pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._number = 0
        self._session = None
        target = next(one for one in self._call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def _read(self) -> dict:
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 16)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _take_event(self, message: dict) -> None:
        parameters = message.get("params", {})
        match message.get("method"):
            case "Log.entryAdded":
                self.complaints.append(parameters["entry"]["text"])
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(parameters)[:500])
            case "Network.requestWillBeSent" if not parameters["request"]["url"].startswith("file://"):
                self.complaints.append("fetches " + parameters["request"]["url"])

    def _call(self, method: str, **parameters):
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._to, json.dumps(request).encode() + b"\0")
        while (message := self._read()).get("id") != self._number:
            self._take_event(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def window(self, width: int, height: int, dark: bool, paper: bool = False) -> None:
        """Set the size of the window and the colours; with `paper` the page is laid out to be printed."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                   mobile=width < 600)
        self._call("Emulation.setEmulatedMedia", features=[scheme], media="print" if paper else "")

    def allow_scripts(self, allowed: bool) -> None:
        """Whether pages that are opened from now on run their scripts."""
        self._call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def open(self, path: pathlib.Path) -> None:
        """Load a page."""
        self._call("Page.navigate", url=path.resolve().as_uri())
        while self._read_event() != "Page.loadEventFired":
            pass

    def _read_event(self) -> str | None:
        message = self._read()
        self._take_event(message)
        return message.get("method")

    def evaluate(self, script: str):
        """The value of a script in the page."""
        result = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def picture(self, path: pathlib.Path, clip: dict | None = None, scale: float = 1) -> None:
        """Write a PNG of the whole page, or of a part of it."""
        size = self.evaluate("({width: innerWidth, height: document.documentElement.scrollHeight})")
        part = clip or {"x": 0, "y": 0, **size}
        data = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                          clip={**part, "scale": scale})["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        """End the browser."""
        os.close(self._to)
        os.close(self._from)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()
