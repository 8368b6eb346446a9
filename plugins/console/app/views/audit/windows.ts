// Times of the trail that end now, as the API takes them.

export const windows: Readonly<Record<string, { readonly label: string; readonly seconds: number }>> = {
  '15m': { label: '15 minutes', seconds: 900 },
  '1h': { label: 'hour', seconds: 3_600 },
  '6h': { label: '6 hours', seconds: 21_600 },
  '24h': { label: 'day', seconds: 86_400 },
  '7d': { label: 'week', seconds: 604_800 },
};
export const usualWindow = '1h';
