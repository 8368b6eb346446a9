// The markup builder of the house, under the name the pages of this plugin know it by.
export { Html, html } from '../../../core/http/html.ts';
