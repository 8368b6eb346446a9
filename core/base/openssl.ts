// OpenSSL keeps what went wrong in a queue of the thread, and the next read of any TLS connection on that thread takes it for its own.
import { getFips } from 'node:crypto';

/**
 * Runs calls of node:crypto on what others gave, and leaves the queue of this thread empty however they end. Some calls leave an error
 * there: the export of an EC key at infinity, and the details of an RSA key of more than 16,384 bits although they are answered. Unless
 * it is taken out before the event loop goes on, somebody else's connection is closed with it. `use` must do all of it before it returns.
 */
export function cleanly<T>(use: () => T): T {
  try {
    return use();
  } finally {
    // The cheapest call of node:crypto that empties the queue (0.6 µs); a test holds it to that.
    getFips();
  }
}
