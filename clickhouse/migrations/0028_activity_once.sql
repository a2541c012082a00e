-- An entry about reads is written once an hour. Of several processes the store keeps the first insert with its token; see claim.ts.
ALTER TABLE activity MODIFY SETTING non_replicated_deduplication_window = 1000
