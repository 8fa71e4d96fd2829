import type { Asset } from '#hosting/releases/assets/assets.ts'
import type { Release } from '#hosting/releases/releases.ts'
import { editAddress, sizeText } from '#hosting/releases/views/release.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { button, shortCount } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { askMenu } from '#web/components/menu.ts'
import { box } from '#web/components/table.ts'
import { field } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'

/** What was typed in the form of a file that was refused. */
export interface TypedFile {
  id: number
  name: string
  label: string
}

/** The field for new files, in the form of the release. The script of uploads shows the progress. */
export const filesField = html`<label for="files">Add files</label><input id="files" name="files" type="file" multiple aria-describedby="files-hint">
<p class="hint muted" id="files-hint">Up to 2 GiB each. Choose them last: a browser forgets them when the form is shown again.</p>
<p class="upload-progress" role="status" hidden><progress max="100" value="0"></progress> <span></span></p>`

/** The files that a release has, each with forms to rename and to delete it. */
export function filesBox(visit: SignedIn, repo: Repository, release: Release, typed: TypedFile | undefined): Html {
  if (!release.assets.length) return html``
  const rows = release.assets.map((asset) =>
    fileRow(visit, `${editAddress(repo, release)}/files/${asset.id}`, asset, typed?.id === asset.id ? typed : undefined),
  )
  return html`<section class="release-assets"><h2>Files</h2>${box(rows, { label: 'Files' })}</section>`
}

function fileRow(visit: SignedIn, action: string, asset: Asset, typed: TypedFile | undefined): Html {
  const { id, name, label, size, downloads_count } = asset
  const inputs = html`${field({ label: 'Name', name: 'file_name', id: `file-name-${id}`, value: typed?.name ?? name, required: true, longest: 255 })}
${field({ label: 'Label', name: 'file_label', id: `file-label-${id}`, value: typed?.label ?? label, longest: 255, hint: 'Shown in place of the name.' })}
<div class="buttons">${button('Save file', { size: 'small', name: 'act', value: 'save' })}</div>`
  const answer = form(visit, action, button('Delete file', { kind: 'danger', size: 'small', name: 'act', value: 'delete' }), {
    class: 'inline',
  })
  return html`<div class="release-asset">${icon('package')}<span class="release-asset-name"><strong>${name}</strong>${label && html` <span class="muted" dir="auto">${label}</span>`}</span>
<span class="space"></span><span class="muted">${sizeText(size)}</span><span class="muted" title="${downloads_count} downloads">${icon('download', { label: 'Downloads' })} ${shortCount(downloads_count)}</span>
${askMenu(icon('trash'), `Delete ${name}? Links to it stop working.`, answer, { label: `Delete ${name}` })}</div>
<details${typed && html` open`}><summary>Rename</summary>${form(visit, action, inputs)}</details>`
}
