/* initializers.h - for C and C++: the initializer of every public struct compiles, and sets struct_size. */
#ifndef INITIALIZERS_H
#define INITIALIZERS_H

#include <sstore.h>
#include <sstore_join.h>
#include <sstore_statistics.h>
#include <sstore_stream.h>
#include <sstore_text.h>

static bool initializers_are_right(void)
{
    const sstore_open_options open_options = SSTORE_OPEN_OPTIONS_INIT;
    const sstore_columns columns = SSTORE_COLUMNS_INIT;
    const sstore_batch_options batch_options = SSTORE_BATCH_OPTIONS_INIT;
    const sstore_id_filter id_filter = SSTORE_ID_FILTER_INIT;
    const sstore_statistics statistics = SSTORE_STATISTICS_INIT;
    const sstore_segment_statistics segment_statistics = SSTORE_SEGMENT_STATISTICS_INIT;
    const sstore_word_statistics word_statistics = SSTORE_WORD_STATISTICS_INIT;
    const sstore_table_statistics table_statistics = SSTORE_TABLE_STATISTICS_INIT;
    const sstore_block_statistics block_statistics = SSTORE_BLOCK_STATISTICS_INIT;
    const sstore_change change = SSTORE_CHANGE_INIT;
    const sstore_write_options write_options = SSTORE_WRITE_OPTIONS_INIT;
    const sstore_dedup_statistics dedup_statistics = SSTORE_DEDUP_STATISTICS_INIT;
    const sstore_build_needs build_needs = SSTORE_BUILD_NEEDS_INIT;
    const sstore_verify_options verify_options = SSTORE_VERIFY_OPTIONS_INIT;
    const sstore_reindex_options reindex_options = SSTORE_REINDEX_OPTIONS_INIT;
    const sstore_join_options join_options = SSTORE_JOIN_OPTIONS_INIT;
    const sstore_cluster_options cluster_options = SSTORE_CLUSTER_OPTIONS_INIT;
    const sstore_record_join_options record_join_options = SSTORE_RECORD_JOIN_OPTIONS_INIT;
    const sstore_keeper_options keeper_options = SSTORE_KEEPER_OPTIONS_INIT;
    const sstore_components_options components_options = SSTORE_COMPONENTS_OPTIONS_INIT;
    const sstore_stream_options stream_options = SSTORE_STREAM_OPTIONS_INIT;
    const sstore_collection_options collection_options = SSTORE_COLLECTION_OPTIONS_INIT;
    const sstore_plan_options plan_options = SSTORE_PLAN_OPTIONS_INIT;
    const sstore_text_options text_options = SSTORE_TEXT_OPTIONS_INIT;
    const sstore_text_result text_result = SSTORE_TEXT_RESULT_INIT;
    const sstore_frequency_summary frequency_summary = SSTORE_FREQUENCY_SUMMARY_INIT;
    return open_options.struct_size == sizeof(sstore_open_options) && columns.struct_size == sizeof(sstore_columns) &&
           id_filter.struct_size == sizeof(sstore_id_filter) &&
           batch_options.struct_size == sizeof(sstore_batch_options) &&
           statistics.struct_size == sizeof(sstore_statistics) &&
           segment_statistics.struct_size == sizeof(sstore_segment_statistics) &&
           word_statistics.struct_size == sizeof(sstore_word_statistics) &&
           table_statistics.struct_size == sizeof(sstore_table_statistics) &&
           block_statistics.struct_size == sizeof(sstore_block_statistics) &&
           change.struct_size == sizeof(sstore_change) && write_options.struct_size == sizeof(sstore_write_options) &&
           dedup_statistics.struct_size == sizeof(sstore_dedup_statistics) &&
           build_needs.struct_size == sizeof(sstore_build_needs) &&
           verify_options.struct_size == sizeof(sstore_verify_options) &&
           reindex_options.struct_size == sizeof(sstore_reindex_options) &&
           join_options.struct_size == sizeof(sstore_join_options) &&
           cluster_options.struct_size == sizeof(sstore_cluster_options) &&
           record_join_options.struct_size == sizeof(sstore_record_join_options) &&
           keeper_options.struct_size == sizeof(sstore_keeper_options) &&
           components_options.struct_size == sizeof(sstore_components_options) &&
           stream_options.struct_size == sizeof(sstore_stream_options) &&
           collection_options.struct_size == sizeof(sstore_collection_options) &&
           plan_options.struct_size == sizeof(sstore_plan_options) &&
           text_options.struct_size == sizeof(sstore_text_options) &&
           text_result.struct_size == sizeof(sstore_text_result) &&
           frequency_summary.struct_size == sizeof(sstore_frequency_summary);
}

#endif
