// What the plugin adds: a table, a resource over it, and an action.
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { defineEndpoint } from '../../../core/http/endpoint.ts';
import { defineResource } from '../../../core/http/resource/resource.ts';
import type { PluginContext, PluginInstance } from '../../../core/plugin/plugin.ts';
import type { StoreKey } from '../../../core/store/store.ts';

const tag = { name: 'notes', description: 'Notes of a tenant.' } as const;

const document = z.object({
  text: z.string().max(1_000).default('').meta({ description: 'What is noted.', example: 'the safe is behind the picture' }),
});

type Note = { readonly text: string };

export function provision({ store }: Pick<PluginContext<unknown>, 'store'>): PluginInstance {
  const notes = store.tenantTable<Note>('notes');
  return {
    resources: [
      defineResource<Note, Note>({
        ...{ path: 'keystore/notes', tag, noun: 'note', nameField: 'name', scope: 'tenant', table: notes },
        ...{ document, stateFields: z.object({}) },
        plan: ({ document: { text } }) => ({ commit: () => ({ text }) }),
        toDocument: ({ text }) => ({ text }),
        toState: () => ({}),
      }),
    ],
    endpoints: [
      defineEndpoint<Record<string, never>, { readonly words: number }, StoreKey>({
        ...{ method: 'POST', path: '/v1/state/keystore/notes/{name}/count', access: 'token', operation: 'execute', tag },
        act: 'none',
        summary: 'Count the words of a note',
        named: 'CountNote',
        description: 'Words are what stands between spaces.',
        audit: 'required',
        documented: { names: { name: { description: 'Name of the note.', example: 'first' } } },
        input: z.object({}),
        output: z.object({ words: z.int().min(0).meta({ description: 'How many there are.', example: 6 }) }),
        errors: ['not-found'],
        find({ caller, params }) {
          const key = [caller.tenantId, params['name'] ?? ''];
          if (!notes.has(key)) throw fail('not-found');
          return key;
        },
        run: (_call, _input, key) => ({ words: (notes.get(key)?.text ?? '').split(' ').filter((word) => word !== '').length }),
      }),
    ],
  };
}
