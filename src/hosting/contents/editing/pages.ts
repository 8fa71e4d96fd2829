import { listRefNames } from '#hosting/refs/recorded-refs.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { alert, attempt, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { type CodeLocation, type CodeView, codeAddress, findLocation } from '../code-location.ts'
import { deleteFile, writeFile } from '../contents.ts'
import { isPath } from '../paths.ts'
import { readCode } from '../read-code.ts'
import { textOf } from '../views/file-text.ts'

/** Files are created, changed and deleted by commits to a branch. */
export const pages: PageRoute[] = [
  ...both('new', (visit, place, problem) => newPage(visit, place, problem), create),
  ...both('edit', editPage, change),
  ...both('delete', deletePage, remove),
]

type Verb = CodeView & ('new' | 'edit' | 'delete')
type Place = Pick<CodeLocation, 'repo' | 'ref' | 'path'> & Partial<CodeLocation>
type Shown = (visit: SignedIn, place: Place, problem?: Problem) => Promise<Outcome>

/** The page of a form, and the form. A refused form is shown again. */
function both(verb: Verb, shown: Shown, act: (visit: SignedIn, place: Place) => Promise<Outcome>): PageRoute[] {
  const path = `/:owner/:repo/${verb}/*`
  return [
    showOwn(path, async (visit) => shown(visit, await findPlace(visit))),
    submitOwn(path, async (visit) => {
      const place = await findPlace(visit)
      return attempt(
        () => act(visit, place),
        (problem) => shown(visit, place, problem),
      )
    }),
  ]
}

async function findPlace(visit: SignedIn): Promise<Place> {
  const repo = await loadVisibleRepository(visit)
  checkAccess(repo.access, 'push')
  checkWritable(repo)
  const rest = visit.params['*'] ?? ''
  // The first file of a repository creates its first branch.
  const isFirst = rest === repo.default_branch && (await listRefNames(visit.db, repo, 1)).branches_count === 0
  if (isFirst) return { repo, ref: rest, path: '' }
  const found = await findLocation(visit.db, visit.belfry.storage, repo, rest)
  if ('moved' in found) throw new Refusal('conflict', `The branch is called ${found.moved.ref} now.`)
  if (!found.is_branch) throw new Refusal('invalid', 'Only files of a branch can be changed. Choose a branch first.')
  return found
}

/** In bytes. The text of a form may take three times as much, and a request 1 MB. */
const largestEdited = 256 * 1024

/** The text of a file, and the id of the version that is being changed. */
async function readText(visit: SignedIn, place: Place): Promise<{ text: string; sha: string }> {
  const content = place.sha === undefined ? undefined : await readCode(visit.belfry.storage, place as CodeLocation)
  if (content?.kind !== 'file' || content.link !== undefined) throw missing()
  const text = content.bytes && textOf(content.bytes)
  if (text === null || content.entry.size > largestEdited) {
    throw new Refusal('invalid', 'This file is binary or too large to be edited here. Change it in a clone, and push it.')
  }
  return { text, sha: content.entry.sha }
}

const messageField = ({ form: given }: SignedIn, usual: string) =>
  field({ label: 'Commit message', name: 'message', value: given.get('message') ?? usual, required: true, longest: 2000 })

const textField = (text: string) => html`<label for="text">Contents</label>
<textarea id="text" name="text" class="code-text" rows="24" spellcheck="false" autocomplete="off" autocapitalize="none" wrap="off">
${text}</textarea>`

async function newPage(visit: SignedIn, place: Place, problem?: Problem): Promise<Outcome> {
  const folder = place.path ? `${place.path}/` : ''
  const given = visit.query.get('filename')
  const inputs = html`${field({ label: 'Path', name: 'path', value: visit.form.get('path') ?? `${folder}${given ?? ''}`, required: true, longest: 1000, hint: 'Folders are separated by slashes.' })}
${textField(visit.form.get('text') ?? '')}${messageField(visit, 'Create a file')}`
  return pageOf(visit, place, 'new', 'New file', html`${inputs}${buttons(place, 'Commit new file')}`, problem)
}

async function editPage(visit: SignedIn, place: Place, problem?: Problem): Promise<Outcome> {
  const { text, sha } = await readText(visit, place)
  const inputs = html`<input type="hidden" name="sha" value="${visit.form.get('sha') ?? sha}">${textField(visit.form.get('text') ?? text)}${messageField(visit, `Update ${nameOf(place.path)}`)}`
  return pageOf(visit, place, 'edit', 'Edit', html`${inputs}${buttons(place, 'Commit changes')}`, problem)
}

async function deletePage(visit: SignedIn, place: Place, problem?: Problem): Promise<Outcome> {
  const content = place.sha === undefined ? undefined : await readCode(visit.belfry.storage, place as CodeLocation)
  if (content?.kind !== 'file' && content?.kind !== 'symlink') throw missing()
  const inputs = html`<p>The file stays in the history of the branch.</p><input type="hidden" name="sha" value="${content.entry.sha}">${messageField(visit, `Delete ${nameOf(place.path)}`)}`
  return pageOf(visit, place, 'delete', 'Delete', html`${inputs}${buttons(place, 'Commit the deletion', 'danger')}`, problem)
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

const buttons = (place: Place, text: string, kind: 'primary' | 'danger' = 'primary') =>
  html`<div class="buttons">${button(text, { kind })}${buttonLink('Cancel', place.sha === undefined ? pathOf(place.repo) : codeAddress('blob', place, place.path))}</div>`

function pageOf(visit: SignedIn, place: Place, verb: Verb, title: string, inputs: Html, problem: Problem | undefined): Outcome {
  const { repo, ref, path } = place
  const named = path ? `${title} ${path}` : title
  const action = codeAddress(verb, place, path)
  const body = html`<main class="code-page"><h1 class="path">${title} ${path && verb !== 'new' && html`<bdi>${path}</bdi>`} <span class="muted">in <bdi>${ref}</bdi></span></h1>
${alert(problem)}${form(visit, action, inputs, { class: 'form edit-file' })}</main>`
  return {
    title: `${named} · ${repo.owner_login}/${repo.name}`,
    body,
    above: repositoryHeader(repo, 'code'),
    ...(problem && { status: problem.status }),
  }
}

/** Browsers send line ends as CR LF. A file keeps those that it has. */
function textGiven({ form: given }: SignedIn, before = ''): string {
  const text = (given.get('text') ?? '').replaceAll('\r\n', '\n')
  return before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text
}

async function create(visit: SignedIn, place: Place): Promise<Outcome> {
  const { repo, ref } = place
  const path = typed(visit.form, 'path').replace(/^\/+/, '')
  if (place.sha !== undefined && isPath(path) && (await exists(visit, { ...(place as CodeLocation), path })))
    throw new Refusal('invalid', `${path} exists already. Open it to edit it.`)
  return commit(visit, repo, ref, path, async (message) => {
    const content = Buffer.from(textGiven(visit)).toString('base64')
    await writeFile(visit.db, visit.belfry.storage, repo, visit.visitor, path, { content, message, branch: ref })
  })
}

async function exists({ belfry }: SignedIn, location: CodeLocation): Promise<boolean> {
  try {
    return (await readCode(belfry.storage, location)) !== undefined
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'missing') return false
    throw error
  }
}

async function change(visit: SignedIn, place: Place): Promise<Outcome> {
  const { repo, ref, path } = place
  const { text } = await readText(visit, place)
  return commit(visit, repo, ref, path, async (message) => {
    const content = Buffer.from(textGiven(visit, text)).toString('base64')
    const sha = typed(visit.form, 'sha')
    await writeFile(visit.db, visit.belfry.storage, repo, visit.visitor, path, { content, message, sha, branch: ref })
  })
}

async function remove(visit: SignedIn, place: Place): Promise<Outcome> {
  const { repo, ref, path } = place
  await commit(visit, repo, ref, path, async (message) => {
    const sha = typed(visit.form, 'sha')
    await deleteFile(visit.db, visit.belfry.storage, repo, visit.visitor, path, { message, sha, branch: ref })
  })
  return { to: codeAddress('tree', { repo, ref }), flash: { done: `${path} is deleted.` } }
}

async function commit(
  visit: SignedIn,
  repo: Repository,
  ref: string,
  path: string,
  write: (message: string) => Promise<void>,
): Promise<Outcome> {
  const message = typed(visit.form, 'message')
  if (!message) throw new Refusal('invalid', 'A commit needs a message.')
  try {
    await write(message)
  } catch (error) {
    if (!(error instanceof Refusal) || !/ does not match /.test(error.message)) throw error
    throw new Refusal(
      'conflict',
      'The file has changed since you opened this page. Copy your text, open the file again, and add your changes.',
    )
  }
  return { to: codeAddress('blob', { repo, ref }, path), flash: { done: 'The change is committed.' } }
}
