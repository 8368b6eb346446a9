// Parts of the console that come when they are first shown, in a file of their own, so that the first view stays small.
import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading } from './loading.tsx';

/** Content of a file that is fetched once. A fetch that failed is tried again by the next that shows it. */
export class LaterFile<T extends object> {
  readonly #fetch: () => Promise<T>;
  content: T | undefined;

  constructor(fetch: () => Promise<T>) {
    this.#fetch = fetch;
  }

  async load(): Promise<T> {
    return (this.content ??= await this.#fetch());
  }
}

/** A component of such a file, by its name there. */
export function later<T extends object, K extends keyof T, P extends object>(
  file: LaterFile<T>,
  name: K & (T[K] extends FunctionComponent<P> ? K : never),
): FunctionComponent<P> {
  return function Later(props: P): ComponentChildren {
    const [content, show] = useState(file.content);
    const [isAway, fail] = useState(false);
    useEffect(() => {
      if (content !== undefined) return;
      file.load().then(show, () => fail(true));
    }, [content]);
    if (content === undefined) return isAway ? <Away /> : <Loading />;
    const View = content[name] as FunctionComponent<P>;
    return <View {...props} />;
  };
}

/** After an update the files have other names. */
function Away(): ComponentChildren {
  return (
    <section class="problem" role="alert" tabIndex={-1}>
      <h2>This page could not be loaded</h2>
      <p>The appliance was updated, or cannot be reached. Load the page again.</p>
    </section>
  );
}
