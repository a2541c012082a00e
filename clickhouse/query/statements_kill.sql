-- Kills all statements on the embedded engine before it closes; nobody waits for them any more. ASYNC: the engine
-- itself shows when they have ended.
KILL QUERY WHERE query_id != queryID() ASYNC
