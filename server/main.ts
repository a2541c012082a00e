// The embedded engine runs each statement on a thread of libuv's pool, where it also waits for its connection. With the
// default of four threads, four slow reports would leave none for the writes. The pool takes its size at its first
// use: so this comes before everything else is even loaded.
process.env['UV_THREADPOOL_SIZE'] ??= '32';

await import('./start.ts');
