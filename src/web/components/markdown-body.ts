import { type Html, html } from '../html.ts'

/** Rendered Markdown. */
export const markdownBody = (text: Html): Html => html`<div class="markdown">${text}</div>`
