"""Write the C source of the extension module: emit.py INCLUDE_FOLDER OUTPUT

cffi gets the declarations of the public headers and of shim.h, without what it does not parse.
"""

import pathlib
import re
import sys

import cffi

# Functions in Python that C calls.
CALLBACKS = """
extern "Python" {
    int sspy_report(void *context, const sstore_progress *progress);
    int sspy_problem(void *context, const sstore_error *problem);
    int sspy_plan(void *context, const sstore_plan_estimate *estimate);
    int sspy_table(void *context, const sstore_table_explanation *explanation);
    int sspy_flush(void *context);
    int sspy_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    int sspy_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out);
    void sspy_stream_forget(sspy_stream_state *state);
}
/* arrow_stream.h */
extern const char *(*const sspy_stream_error)(struct ArrowArrayStream *stream);
extern void (*const sspy_stream_release)(struct ArrowArrayStream *stream);
"""


def declarations(header: str) -> str:
    """The types, functions and numbers that a header declares."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    text = text.replace("\\\n", " ")
    numbers = re.findall(r"^#define (SSTORE_(?:MAX|OWN|NO)_\w+) ", text, flags=re.MULTILINE)
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern "C" \{|SSTORE_API ', "", text)
    text = text.rstrip().removesuffix("}") if 'extern "C"' in header else text
    constants = "".join(f"static const uint64_t {name};\n" for name in numbers)
    return constants + text


def main() -> None:
    include, output = map(pathlib.Path, sys.argv[1:])
    shim = pathlib.Path(__file__).with_name("shim.h").read_text(encoding="utf-8")
    ffi = cffi.FFI()
    for header in sorted(include.glob("*.h")):  # sstore.h is the first
        ffi.cdef(declarations(header.read_text(encoding="utf-8")))
    ffi.cdef(declarations(shim))
    ffi.cdef(CALLBACKS)
    ffi.set_source("sstore._native", '#include "shim.h"\n#include "arrow_stream.h"\n', py_limited_api=True)
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    main()
