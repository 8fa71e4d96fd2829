import { Html, html } from '../html.ts'

const token = /("(?:[^"\\]|\\.)*(?:"|\\?$))(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** A text in JSON with colours. It may be cut off anywhere. */
export function jsonText(json: string): Html {
  const pieces: string[] = []
  let end = 0
  const add = (kind: string, text: string) => pieces.push(html`<span class="hljs-${kind}">${text}</span>`.text)
  for (const { 0: all, 1: text, 2: colon, index } of json.matchAll(token)) {
    pieces.push(html`${json.slice(end, index)}`.text)
    if (text === undefined) add('number', all)
    else add(colon === undefined ? 'string' : 'attr', text)
    if (colon !== undefined) pieces.push(colon)
    end = index + all.length
  }
  return new Html(pieces.join('') + html`${json.slice(end)}`.text)
}
