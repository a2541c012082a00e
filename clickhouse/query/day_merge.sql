-- Merges the rows of one day into one part, and builds its aggregates. table: decisions or llm_invocations.
OPTIMIZE TABLE {table: Identifier} PARTITION {day: Date} FINAL
