/*
 * arrow_stream.h - those callbacks of Arrow streams that Python cannot make alone. Included after Python.h by the C
 * source that cffi makes.
 */
#ifndef SSPY_ARROW_STREAM_H
#define SSPY_ARROW_STREAM_H

static void sspy_stream_forget(sspy_stream_state *state); /* in Python */

static const char *last_error(struct ArrowArrayStream *stream)
{
    const sspy_stream_state *state = stream->private_data;
    return state->message;
}

/* A reader may be freed while an exception is pending, when no code in Python may run; so the exception is set aside.
 * A reader makes an error of its own of Ctrl-C, so the signal is repeated: any code in Python before would have taken
 * it. */
static void release_stream(struct ArrowArrayStream *stream)
{
    sspy_stream_state *state = stream->private_data;
    stream->release = NULL;
    if (!Py_IsInitialized())
        return;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    const bool is_interrupted = state->is_interrupted;
    sspy_stream_forget(state);
    PyErr_Restore(type, value, trace);
    if (is_interrupted)
        PyErr_SetInterrupt();
    PyGILState_Release(gil);
}

static const char *(*const sspy_stream_error)(struct ArrowArrayStream *) = last_error;
static void (*const sspy_stream_release)(struct ArrowArrayStream *) = release_stream;

#endif
