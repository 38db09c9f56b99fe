// consumer.cpp - the same as consumer.c in C++11: the header must compile there, and link with C linkage.
//   consumer VERSION STORE
#include <cstring>
#include <iostream>
#include <memory>
#include <sstore.h>
#include <sstore_text.h>
#include <vector>

#include "initializers.h"

namespace
{

int fail(const char *what, const sstore_error &error)
{
    std::cerr << what << ": " << error.message << '\n';
    return 1;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3 || std::strcmp(argv[1], sstore_version()) != 0 || !initializers_are_right())
        return 2;
    const std::vector<uint64_t> fingerprints{UINT64_C(0x84adfe0ad13e12cb), UINT64_C(0x84ad7e0ad13e1a8b), 0, UINT64_MAX};
    sstore_error error;
    sstore_builder *builder = nullptr;
    sstore_write_options build_options = SSTORE_WRITE_OPTIONS_INIT;
    build_options.plan = "3";
    if (sstore_builder_create(argv[2], &build_options, &builder, &error) != SSTORE_OK)
        return fail("create", error);
    if (sstore_builder_add(builder, fingerprints.data(), nullptr, fingerprints.size(), &error) != SSTORE_OK) {
        sstore_builder_abort(builder);
        return fail("add", error);
    }
    if (sstore_builder_finish(builder, nullptr, &error) != SSTORE_OK)
        return fail("finish", error);

    sstore_open_options open_options = SSTORE_OPEN_OPTIONS_INIT;
    open_options.io = SSTORE_IO_MEMORY;
    sstore *opened = nullptr;
    if (sstore_open(argv[2], &open_options, &opened, &error) != SSTORE_OK)
        return fail("open", error);
    const std::unique_ptr<sstore, decltype(&sstore_close)> store(opened, sstore_close);
    std::vector<uint64_t> ids(4);
    size_t count = 0;
    sstore_batch_options batch_options = SSTORE_BATCH_OPTIONS_INIT;
    batch_options.threads = 1;
    sstore_columns columns = SSTORE_COLUMNS_INIT;
    columns.id = ids.data();
    sstore_iterator *made = nullptr;
    if (sstore_iterate_matches(store.get(), fingerprints.data(), 1, 3, &batch_options, &made, &error) != SSTORE_OK)
        return fail("query", error);
    const std::unique_ptr<sstore_iterator, decltype(&sstore_iterator_free)> matches(made, sstore_iterator_free);
    if (sstore_iterator_next(matches.get(), &columns, ids.size(), &count, &error) != SSTORE_OK)
        return fail("next", error);
    std::cout << count << " matches\n";
    return count == 2 && ids[0] == 0 && ids[1] == 1 ? 0 : 1;
}
