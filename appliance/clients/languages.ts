// The languages of the client libraries, each with a folder of this name.
export const languages = ['typescript', 'python', 'go', 'java'] as const;
