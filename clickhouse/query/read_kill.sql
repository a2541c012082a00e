-- Stops the statement that runs on a read connection: its caller is gone. tag: the log_comment of that connection.
-- ASYNC: the connection itself tells when the statement has ended.
KILL QUERY WHERE Settings['log_comment'] = {tag: String} ASYNC
