-- Changes of the members of one project take turns. Of several processes the store keeps the first insert with its token; see members.ts.
ALTER TABLE project_members MODIFY SETTING non_replicated_deduplication_window = 1000
