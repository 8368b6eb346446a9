// Style sheets are imported for their effect alone; Vite collects them into one file.
declare module '*.css';
