-- Kills the statement of a read connection whose caller has disconnected. tag: the log_comment of that connection.
-- ASYNC: the connection itself shows when the statement has ended.
KILL QUERY WHERE Settings['log_comment'] = {tag: String} ASYNC
