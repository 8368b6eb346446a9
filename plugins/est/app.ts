// The request handler of the EST listener. Nothing but EST is answered there.
import { createProblems } from '../../core/http/response/problem.ts';
import { throughH3 } from '../../core/http/h3-adapter.ts';
import type { Handler } from '../../core/http/pipeline.ts';
import { estErrors } from './errors.ts';
import { EstRequest, type EstServer } from './est-request.ts';
import { KeyPlaces } from './key-places.ts';

export type EstAppOptions = Omit<EstServer, 'problems' | 'nextTurn' | 'keyPlaces'>;

/** Requests of one turn of the event loop are decided on one state of the store. */
export function createEstApp(options: EstAppOptions): Handler {
  const refresh = oncePerTurn(() => options.refresh());
  const server: EstServer = {
    ...options,
    refresh,
    nextTurn: sharedTurn(),
    keyPlaces: new KeyPlaces(),
    sealed: () => options.sealed(),
    problems: createProblems([estErrors]),
  };
  return throughH3((request, response) => {
    const context = new EstRequest(server, request, response);
    context.serve(() => context.run());
  });
}

function oncePerTurn(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    run();
    isDone = true;
    setImmediate(() => {
      isDone = false;
    });
  };
}

/** Resolves at the end of this round of the event loop, for all who asked in it together. */
function sharedTurn(): () => Promise<void> {
  let turn: Promise<void> | undefined;
  return () =>
    (turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = undefined;
        resolve();
      });
    }));
}
