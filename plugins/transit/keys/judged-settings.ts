// The settings of a key that an action makes or replaces, judged by policies as the document of a creation or an update with them.
import type { Authorized } from '../../../core/access/access-control.ts';
import { defined } from '../../../core/base/defined.ts';
import { labelsField } from '../../../core/http/resource/labels.ts';
import { formatOutput, shapeOf } from '../../../core/wire/schema.ts';
import type { Transit } from '../context.ts';
import { documentSchema } from './document.ts';

/** A document in wire form, without the name. */
export type Settings = Readonly<Record<string, unknown>>;

/** Path of the configuration of a key, in segments. */
export function configurationOf(name: string): readonly string[] {
  return ['v1', 'config', 'keystore', 'transit-keys', name];
}

/** The wire form of a whole document, parsed or from a backup. */
export function settingsOf({ attachments }: Transit, document: object, labels?: unknown): Settings {
  return { ...(formatOutput(document, attachments.extend(documentSchema, 'stored')) as Settings), ...defined({ labels }) };
}

/** Throws policy-denied unless the caller may give a key of this name these settings. */
export function requireAllowedSettings(
  { attachments }: Transit,
  access: Authorized,
  operation: 'create' | 'update',
  name: string,
  settings: Settings,
): void {
  const schema = attachments.extend(documentSchema, 'schema').extend({ labels: labelsField });
  const judged = [{ name, ...settings }, shapeOf(schema)] as const;
  access.requireAt(configurationOf(name), operation, ...judged);
  if (operation === 'create') access.requireMadeInList(configurationOf(name), ...judged);
}
