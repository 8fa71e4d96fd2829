import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'

/** One line of a history: an icon on a vertical line, and a sentence. */
export function timelineItem(
  name: string,
  sentence: Html,
  { tone = '', id, more }: { tone?: string; id?: string; more?: Html | undefined } = {},
): Html {
  return html`<li class="timeline-item"${id && html` id="${id}"`}><span class="timeline-badge ${tone}">${icon(name)}</span><div class="timeline-text">${sentence}${more}</div></li>`
}
