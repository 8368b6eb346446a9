// Labels of every resource: a field besides the resource's own fields, kept in the record besides the resource's own data.
import { z } from 'zod';
import { labelName, labelNameRule, labelValue, labelValueRule, mostLabels, type Labels } from '../../wire/labels.ts';
import type { AnyResource } from './resource.ts';
import type { Document, LooseResource } from './view.ts';

/** The field of every document. */
export const labelsField = z
  .record(z.string().regex(labelName, labelNameRule), z.string().regex(labelValue, labelValueRule))
  .refine((labels) => Object.keys(labels).length <= mostLabels, `must be at most ${mostLabels} labels`)
  .optional()
  .meta({
    description: `Names and values to find and group entries by, as in Kubernetes but without prefixes: up to ${mostLabels}, each name and value at most 63 letters, digits, ".", "_" and "-". They are not secret.`,
    example: { team: 'payments', env: 'prod' },
    'x-form': 'labels',
  });

/** Adds labels to a resource. An entry without any has no such field, and its record is that of versions without labels. */
export function labelled(resource: AnyResource): AnyResource {
  const own = resource as unknown as LooseResource;
  const whole: LooseResource = {
    ...own,
    document: own.document.safeExtend({ labels: labelsField }),
    complete({ names, document, current }) {
      const { labels, ...fields } = document;
      return { ...(own.complete?.({ names, document: fields, current }) ?? fields), ...presentLabels(labels) };
    },
    plan({ document, ...change }) {
      const { labels, ...fields } = document;
      const plan = own.plan({ ...change, document: fields });
      return { ...plan, commit: (transaction, prepared) => withLabels(plan.commit(transaction, prepared), labels) };
    },
    toDocument(record) {
      const { changeId: _, ...fields } = own.toDocument(record);
      return { ...fields, ...presentLabels(labelsOf(record)) };
    },
  };
  return whole as unknown as AnyResource;
}

/** The labels in the record of an entry; undefined for none. */
export function labelsOf(record: unknown): unknown {
  return (record as { readonly labels?: Labels }).labels;
}

/** Returns the record with these labels instead of its own. */
export function withLabels<Rec>(record: Rec, labels: unknown): Rec {
  const { labels: _, ...rest } = record as Document;
  return { ...rest, ...presentLabels(labels) } as Rec;
}

function presentLabels(labels: unknown): { readonly labels?: Labels } {
  return labels === undefined || Object.keys(labels as Labels).length === 0 ? {} : { labels: labels as Labels };
}
