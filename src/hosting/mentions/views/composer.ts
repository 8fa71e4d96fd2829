import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { button } from '#web/components/button.ts'
import { markdownBody } from '#web/components/markdown-body.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { longestBody, renderTexts } from './render-texts.ts'

interface Composer {
  /** Unique in the page. */
  id: string
  label: string
  value: string
  required?: boolean
  /** Hides the label from people who see where the box is. */
  unlabelled?: boolean
  /** The browser keeps what was typed, by this key, until the form is sent. */
  draft?: string
  /** The rendered text, if a preview was requested without scripts. */
  preview?: Html | undefined
  rows?: number
}

/** A box for Markdown, with a preview: in a tab by script, and by a button of the form without scripts. */
export function composer(repo: Repository, { id, label, value, required = false, unlabelled = false, ...more }: Composer): Html {
  const { draft, preview, rows = 7 } = more
  return html`<div class="composer" data-preview="${pathOf(repo)}/preview"><label for="${id}"${unlabelled && html` class="unseen"`}>${label}</label><div class="composer-tabs" role="tablist" aria-label="View">
<button type="button" role="tab" class="composer-tab" aria-selected="true" aria-controls="${id}">Write</button><button type="button" role="tab" class="composer-tab" aria-selected="false" aria-controls="${id}-preview">Preview</button></div>
<textarea id="${id}" name="body" rows="${rows}" maxlength="${longestBody}"${required && html` required`}${draft && html` data-draft="${draft}"`}
aria-describedby="${id}-hint" placeholder="Use Markdown to format your text">
${value}</textarea>${preview && html`<section class="composer-preview" aria-label="Preview">${markdownBody(preview)}</section>`}
<div class="composer-preview" id="${id}-preview" role="tabpanel" aria-label="Preview" tabindex="0" hidden></div>
<p class="hint muted" id="${id}-hint">Markdown. @name notifies a user, #12 refers to an issue. <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends it.</p>
<noscript>${button('Preview', { name: 'preview', value: 'yes', size: 'small', unchecked: true, text_only: true })}</noscript></div>`
}

/** What a text would look like; an empty one says so. */
export async function previewOf(visit: Visit, repo: Repository, text: string): Promise<Html> {
  const [shown] = await renderTexts(visit, repo, [text])
  return text.trim() === '' || !shown ? html`<p class="muted">Nothing to preview.</p>` : shown
}
