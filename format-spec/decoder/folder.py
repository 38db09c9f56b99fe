"""Files below a store's folder, read without following symbolic links (sstore-format.md, section 12, step 1)."""

import errno
import os
import stat

from faults import Damaged, NoStore

MANIFEST_NAME = "MANIFEST"


class Missing(Exception):
    """A file that the manifest requires does not exist. The store may have been replaced (section 12, step 6)."""

    def __init__(self, path: str):
        super().__init__(path)
        self.path = path


class Folder:
    """An open folder; `path` is for messages."""

    def __init__(self, path: str, handle: int):
        self.path = path
        self.handle = handle

    @staticmethod
    def open_store(path: str) -> "Folder":
        """Open the store's own folder. Only this path may contain symbolic links."""
        try:
            return Folder(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoStore(error.strerror, path)

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)

    def path_of(self, name: str) -> str:
        return f"{self.path}/{name}"

    def _open(self, name: str, flags: int) -> int:
        try:
            return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | flags, dir_fd=self.handle)
        except FileNotFoundError:
            raise Missing(self.path_of(name))
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise Damaged("a symbolic link, or not what its name says", self.path_of(name))
            raise

    def open_folder(self, name: str) -> "Folder":
        return Folder(self.path_of(name), self._open(name, os.O_DIRECTORY))

    def read(self, name: str, size: int | None = None, bounds: tuple[int, int] | None = None) -> bytes:
        """Read a whole regular file. It must have exactly `size` bytes, or a size within `bounds`."""
        with open(self._open(name, 0), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Damaged("not a plain file", self.path_of(name))
            low, high = bounds or (size, size)
            if not low <= status.st_size <= high:
                wanted = f"{low}" if low == high else f"{low} to {high}"
                raise Damaged(f"{status.st_size} bytes instead of {wanted}", self.path_of(name), min(status.st_size, high))
            data = file.read(status.st_size)
            if len(data) != status.st_size:
                raise Damaged("cut short while it was read", self.path_of(name), len(data))
            return data
