// consumer.cpp - the same as consumer.c in C++11: the header must compile there, and link with C linkage.
//   consumer VERSION STORE
#include <cstring>
#include <iostream>
#include <memory>
#include <sstore.h>
#include <sstore_text.h>
#include <vector>

#include "initializers.h"

namespace {

int collect(void *context, const sstore_match *match)
{
    static_cast<std::vector<sstore_match> *>(context)->push_back(*match);
    return 0;
}

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
    std::vector<sstore_match> matches;
    sstore_batch_options batch_options = SSTORE_BATCH_OPTIONS_INIT;
    batch_options.threads = 1;
    if (sstore_query_batch(store.get(), fingerprints.data(), 1, 3, &batch_options, collect, &matches, &error) !=
        SSTORE_OK)
        return fail("query", error);
    std::cout << matches.size() << " matches\n";
    return matches.size() == 2 && matches[0].id == 0 && matches[1].id == 1 ? 0 : 1;
}
