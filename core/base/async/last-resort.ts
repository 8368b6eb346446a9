// Errors thrown outside a promise, in an event listener or a timer, end the request they belong to instead of the process.
import { AsyncLocalStorage } from 'node:async_hooks';

/** Ends one request with an error. Does nothing if called again, or after the answer. */
export type EndRequest = (error: unknown) => void;

type Course = { readonly end: EndRequest; readonly watchers: ((error: unknown) => void)[] };

const courses = new AsyncLocalStorage<Course>();

/** Runs a request. Everything it starts, including listeners and timers, belongs to it. */
export function inCourseOf<T>(end: EndRequest, run: () => T): T {
  return courses.run({ end, watchers: [] }, run);
}

/** Registers a callback for such errors of the current request, for code that calls others who may have caused them. */
export function onStrayError(told: (error: unknown) => void): void {
  courses.getStore()?.watchers.push(told);
}

export type LastResort = {
  /** called with an error whose request has been ended; for the log */
  readonly tell: (error: unknown) => void;
  /** called with an error of no request, which may have left anything half done: ends the process */
  readonly give: (error: unknown) => void;
};

/**
 * Handles errors that would otherwise end the process. Within a request such an error is like a rejected promise of that request, which
 * is also answered with 500: what requests share (store, audit trail, tokens) works behind promises of its own. Any other error ends the
 * process, as Node.js does by default. An unhandled rejection counts as thrown.
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
