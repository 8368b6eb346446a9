// OpenSSL keeps errors in a queue per thread; the next read of a TLS connection on the thread would take such an error for its own.
import { getFips } from 'node:crypto';

/**
 * Runs calls of node:crypto on input from outside and empties the thread's error queue afterwards. Some calls leave an error there even
 * when they succeed: the export of an EC key at infinity, and the details of an RSA key above 16,384 bits. Left in the queue, the error
 * would close an unrelated TLS connection. `use` must be synchronous.
 */
export function cleanly<T>(use: () => T): T {
  try {
    return use();
  } finally {
    // The cheapest call of node:crypto that empties the queue (0.6 µs); a test proves that it does.
    getFips();
  }
}
