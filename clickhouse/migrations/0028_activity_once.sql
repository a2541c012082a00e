-- An entry about reads is written once an hour: the store keeps the first insert with a token, also of several processes; see claim.ts.
ALTER TABLE activity MODIFY SETTING non_replicated_deduplication_window = 1000
