-- Kills what runs on the embedded engine, before it closes: statements that nobody waits for any more. ASYNC: the engine itself
-- shows when they have ended.
KILL QUERY WHERE query_id != queryID() ASYNC
