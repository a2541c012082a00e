import { keepCompiledCode } from './compile-cache.ts';

keepCompiledCode();

// The embedded engine runs each statement on a thread of libuv's pool, where it also waits for its connection. With the default of four
// threads, four slow reports would block all writes. The pool reads its size at its first use, so this runs before anything else is loaded.
process.env['UV_THREADPOOL_SIZE'] ??= '32';

await import('./start.ts');
