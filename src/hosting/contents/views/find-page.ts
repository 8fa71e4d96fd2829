import { icon } from '#web/components/icon.ts'
import { box } from '#web/components/table.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { type CodeLocation, codeAddress } from '../code-location.ts'
import { findFileNames } from '../read-code.ts'

const mostShown = 100

/** Files whose paths contain the typed characters in their order. */
export async function findPage(visit: Visit, location: CodeLocation): Promise<Html> {
  const words = (visit.query.get('q') ?? '').slice(0, 200).trim()
  const found = rank(await findFileNames(visit.belfry.storage, location), words)
  const rows = found
    .slice(0, mostShown)
    .map(
      (path) =>
        html`<a class="entry" href="${codeAddress('blob', location, path)}"><span class="entry-icon">${icon('file')}</span> <span>${path}</span></a>`,
    )
  const count =
    found.length > mostShown
      ? `The first ${mostShown} of ${found.length.toLocaleString('en')} files.`
      : `${found.length} ${found.length === 1 ? 'file' : 'files'}.`
  return html`<main class="code-page"><h1>Find a file</h1>
<form class="find-file" method="get" role="search" action="${codeAddress('find', location)}"><label for="file-words">In <a href="${codeAddress('tree', location)}">${location.repo.name}</a> at <code>${location.ref}</code></label>
<input id="file-words" name="q" type="search" value="${words}" placeholder="Part of a path" autocomplete="off" spellcheck="false" maxlength="200" autofocus data-finds="#found-files"></form>
<div id="found-files"><p class="muted" role="status">${count}</p>${rows.length > 0 && box(rows, { label: 'Files' })}</div></main>`
}

/** Paths that contain the text come first, those with it in their file name before the others; then those with its characters in order. */
function rank(paths: string[], words: string): string[] {
  if (!words) return paths
  const wanted = words.toLowerCase().replaceAll(/\s+/g, '')
  const ranked: [path: string, rank: number][] = []
  for (const path of paths) {
    const text = path.toLowerCase()
    const at = text.lastIndexOf(wanted)
    if (at >= 0) ranked.push([path, at > text.lastIndexOf('/') ? 0 : 1])
    else if (hasInOrder(text, wanted)) ranked.push([path, 2])
  }
  return ranked.sort(([a, first], [b, second]) => first - second || a.length - b.length).map(([path]) => path)
}

function hasInOrder(text: string, characters: string): boolean {
  let from = 0
  for (const character of characters) {
    const at = text.indexOf(character, from)
    if (at < 0) return false
    from = at + character.length
  }
  return true
}
