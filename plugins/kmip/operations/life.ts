// Activate, Revoke, Destroy.
import { enumerations } from '../ttlv/enumerations.ts';
import { text } from '../ttlv/item.ts';
import { type Done, identifierIn, type Operation } from './operation.ts';

export const activate: Operation = {
  isFinal: true,
  run: async (asked, payload) => {
    const id = identifierIn(payload, asked);
    await asked.objects.activate(asked.call, id);
    return doneWith(id);
  },
};

export const revoke: Operation = {
  isFinal: true,
  run: async (asked, payload) => {
    const id = identifierIn(payload, asked);
    const given = payload.requiredStructure('RevocationReason');
    const message = given.value('RevocationMessage', 'text');
    const compromiseOccurrence = payload.value('CompromiseOccurrenceDate', 'date');
    await asked.objects.revoke(asked.call, id, {
      reason: enumerations.RevocationReasonCode[given.requiredWord('RevocationReasonCode')],
      ...(message === undefined ? {} : { message }),
      ...(compromiseOccurrence === undefined ? {} : { compromiseOccurrence }),
    });
    return doneWith(id);
  },
};

export const destroy: Operation = {
  isFinal: true,
  run: async (asked, payload) => {
    const id = identifierIn(payload, asked);
    await asked.objects.destroy(asked.call, id);
    return doneWith(id);
  },
};

function doneWith(id: string): Done {
  return { payload: [text('UniqueIdentifier', id)], placeholder: id };
}
