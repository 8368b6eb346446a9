// A backup as the answer to a request: ended when the client reads no further, and never mistaken for a whole one.

/** A client that takes nothing for this long keeps others from making a backup. */
const stallMs = 120_000;

/**
 * The pieces, with `ended` called exactly once: `whole` when the last piece was taken, otherwise why not. A generator that is ended before
 * it has begun runs no `finally`; therefore this function is not a generator.
 */
export function untilEnded(
  pieces: AsyncGenerator<Uint8Array>,
  ended: (how: 'whole' | Error) => Promise<void>,
  limitMs = stallMs,
): AsyncIterable<Uint8Array> {
  let failure: Error | undefined;
  let isOver = false;
  const end = async (how: 'whole' | Error): Promise<void> => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    await pieces.return(undefined);
    await ended(how);
  };
  const stalled = (): void => {
    failure = new Error(`the client took nothing for ${limitMs / 1_000} seconds`);
    void end(failure);
  };
  const watch = (): NodeJS.Timeout => setTimeout(stalled, limitMs).unref();
  let timer = watch();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (failure !== undefined) throw failure;
        clearTimeout(timer);
        try {
          const next = await pieces.next();
          if (next.done === true) await end('whole');
          else timer = watch();
          return next;
        } catch (error) {
          await end(error as Error);
          throw error;
        }
      },
      async return() {
        await end(new Error('the connection was closed before the end'));
        return { value: undefined, done: true };
      },
    }),
  };
}
