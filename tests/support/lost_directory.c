#include "support/lost_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include "support/scratch.h"
#include "support/testing.h"

const char *directory_loss_name(directory_loss how)
{
    static const char *const names[LOSS_COUNT] = {"gone",           "with a flipped bit", "cut",     "empty", "longer",
                                                  "of other bytes", "a symbolic link",    "a folder"};
    return names[how];
}

static void flip_bit(file_bytes *content, rng *random)
{
    content->data[rng_below(random, content->size)] ^= (uint8_t)(1u << rng_below(random, 8));
}

void directory_lose(const char *path, directory_loss how, rng *random)
{
    file_bytes content = file_load(path);
    size_t size = content.size;
    const char *elsewhere = scratch_path("elsewhere");
    assert_int_equal(unlink(path), 0);
    switch (how) {
    case LOSS_BIT: flip_bit(&content, random); break;
    case LOSS_CUT: size = rng_below(random, size); break;
    case LOSS_EMPTY: size = 0; break;
    case LOSS_OTHER: rng_fill(random, content.data, size); break;
    case LOSS_LINK:
        file_save(elsewhere, content.data, size);
        assert_int_equal(symlink(elsewhere, path), 0);
        break;
    case LOSS_FOLDER: assert_int_equal(mkdir(path, 0777), 0); break;
    default: break;
    }
    if (how == LOSS_BIT || how == LOSS_CUT || how == LOSS_EMPTY || how == LOSS_OTHER || how == LOSS_LONGER)
        file_save(path, content.data, size);
    if (how == LOSS_LONGER)
        file_patch(path, size, "and more", 1 + rng_below(random, 8));
    file_bytes_free(&content);
}
