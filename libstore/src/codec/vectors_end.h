/* vectors_end.h - ends what vectors.h has begun, so that the next form can be made. */
#undef JOIN_NAMES
#undef NAME_OF
#undef OF_FORM
#undef INLINE
#undef NONE_NOTED
#undef words
#undef VECTOR_WORDS
#undef FEW_BITS
#undef COUNT_ONES
#undef BY_DISTANCE
#undef FORM
#undef TARGET
#undef VECTOR_BYTES
