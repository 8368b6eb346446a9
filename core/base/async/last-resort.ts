// The last resort: what is thrown outside a promise, in a listener or a timer, ends the request in whose course it happened, not the process.
import { AsyncLocalStorage } from 'node:async_hooks';

/** Ends one request with an error. Called again, or after the answer, it does nothing. */
export type EndRequest = (error: unknown) => void;

type Course = { readonly end: EndRequest; readonly watchers: ((error: unknown) => void)[] };

const courses = new AsyncLocalStorage<Course>();

/** Runs a request; everything it sets off, also in listeners and timers, belongs to its course. */
export function inCourseOf<T>(end: EndRequest, run: () => T): T {
  return courses.run({ end, watchers: [] }, run);
}

/** Has `told` called when the course of the present request meets such an error: for whoever sends it to others that may be to blame. */
export function onStrayError(told: (error: unknown) => void): void {
  courses.getStore()?.watchers.push(told);
}

export type LastResort = {
  /** of the request it happened in, which has been ended; for the log */
  readonly tell: (error: unknown) => void;
  /** Nobody knows what it has left half done: ends the process. */
  readonly give: (error: unknown) => void;
};

/**
 * Catches what would end the process. In the course of a request it is no worse than an error in a promise of that request, which ends
 * with a 500 as well: what requests share (store, audit trail, tokens) does its work behind promises of its own. Anything else ends the
 * process, as it would have without us. A promise that nobody listens to counts as thrown.
 */
export function catchStrayErrors({ tell, give }: LastResort): void {
  process.on('uncaughtException', (error: unknown) => {
    const course = courses.getStore();
    if (course === undefined) return give(error);
    try {
      tell(error);
      for (const told of course.watchers) told(error);
      course.end(error);
    } catch (another) {
      give(another);
    }
  });
}
