-- Changes of the members of one project run one after the other: the store keeps the first insert with a token; see change-in-turn.ts.
ALTER TABLE project_members MODIFY SETTING non_replicated_deduplication_window = 1000
