import { listBranchRefs, listTagCommits } from '#git/objects.ts'
import { previewOf } from '#hosting/mentions/views/composer.ts'
import { shortName } from '#hosting/refs/json.ts'
import { generateNotes } from '#hosting/releases/notes.ts'
import { createRelease, deleteRelease, loadRelease, type Release, updateRelease } from '#hosting/releases/releases.ts'
import { mayRelease, visitorSeesDrafts } from '#hosting/releases/rights.ts'
import { editAddress, releaseAddress } from '#hosting/releases/views/release.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, numberIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { checkWritable } from '#identity/access.ts'
import { forbidden, invalid, missing, Refusal } from '#platform/errors.ts'
import { attempt, type Problem, typed } from '#web/fields.ts'
import type { Html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, showOwn, submitFiles, submitOwn } from '#web/page.ts'
import { findVisitor } from '#web/visit.ts'
import { addFiles, changeFile, receiveFiles } from './files.ts'
import type { TypedFile } from './views/files-form.ts'
import { type Draft, releaseForm } from './views/release-form.ts'

export const pages: PageRoute[] = [
  showOwn('/:owner/:repo/releases/new', async (visit) => {
    const repo = await loadReleasable(visit)
    const tag_name = (visit.query.get('tag') ?? '').slice(0, longestName)
    return formPage(visit, repo, undefined, {
      tag_name,
      target_commitish: repo.default_branch,
      name: '',
      body: '',
      prerelease: false,
    })
  }),
  submitFiles('/:owner/:repo/releases/new', async (visit) => save(visit, await loadReleasable(visit))),
  showOwn('/:owner/:repo/releases/edit/:id', async (visit) => {
    const repo = await loadReleasable(visit)
    const release = await loadRelease(visit.db, repo, numberIn(visit.params.id), true)
    return formPage(visit, repo, release, draftOf(release))
  }),
  submitFiles('/:owner/:repo/releases/edit/:id', async (visit) => {
    const repo = await loadReleasable(visit)
    return save(visit, repo, await loadRelease(visit.db, repo, numberIn(visit.params.id), true))
  }),
  submitOwn('/:owner/:repo/releases/edit/:id/files/:asset', saveFile),
  submitOwn('/:owner/:repo/releases/delete/:id', remove),
]

/** The limits of the API. */
const longestName = 255
const longestNotes = 125_000

async function loadReleasable(visit: SignedIn): Promise<Repository> {
  const repo = await loadVisibleRepository(visit)
  checkWritable(repo)
  if (!mayRelease(repo)) throw forbidden('You need push access to release.')
  return repo
}

/** Files may arrive for hours: the session and the access may have ended. */
async function checkStillAllowed(visit: SignedIn, { id }: Repository) {
  const visitor = await findVisitor(visit.belfry, visit.request)
  if (visitor?.id !== visit.visitor.id) throw forbidden('You were signed out while the files arrived. Sign in and try again.')
  if ((await loadReleasable(visit)).id !== id) throw missing()
}

async function formPage(
  visit: SignedIn,
  repo: Repository,
  release: Release | undefined,
  draft: Draft,
  { problem, preview, file }: { problem?: Problem; preview?: Html; file?: TypedFile } = {},
): Promise<Outcome> {
  const { storage } = visit.belfry
  const [branches, tags] = [await listBranchRefs(storage, repo.id), await listTagCommits(storage, repo.id)]
  const names = { branches: branches.map(shortName), tags: tags.map(({ name }) => name) }
  return {
    title: `${release ? `Edit ${release.tag_name}` : 'New release'} · ${repo.owner_login}/${repo.name}`,
    body: releaseForm(visit, repo, { release, draft, names, problem, preview, file }),
    ...(problem && { status: problem.status }),
    above: repositoryHeader(repo, 'releases'),
  }
}

/** Publishes or saves as a draft; or shows the form again with generated notes or a preview. */
async function save(visit: SignedIn, repo: Repository, release?: Release): Promise<Outcome> {
  const { db, belfry, form, visitor } = visit
  // The fields after the files are there when the files are read.
  const { files, refusal } = await receiveFiles(visit, release)
  await checkStillAllowed(visit, repo)
  const draft = draftIn(form, repo)
  const action = form.get('action') ?? ''
  return attempt(
    async () => {
      if (refusal) throw refusal
      checkLengths(draft)
      if (form.has('preview')) {
        return formPage(visit, repo, release, draft, { preview: await previewOf(visit, repo, draft.body) })
      }
      if (action === 'generate') {
        const notes = await generateNotes(db, belfry.storage, repo, belfry.addresses.web, draft)
        const body = [draft.body, notes.body].filter(Boolean).join('\n\n')
        return formPage(visit, repo, release, { ...draft, name: draft.name || notes.name, body })
      }
      const wanted = { ...draft, name: draft.name || null, draft: action === 'draft' }
      const saved = release
        ? await updateRelease(db, belfry.storage, repo, visitor, release, wanted)
        : await createRelease(db, belfry.storage, repo, visitor, wanted)
      const late = await addFiles(visit, saved, files).then(() => undefined, refusalOf)
      if (late) {
        return { to: editAddress(repo, saved), flash: { done: `The release is saved without the new files: ${late.message}` } }
      }
      if (saved.draft) return { to: `${pathOf(repo)}/releases`, flash: { done: `The draft of ${saved.tag_name} is saved.` } }
      return {
        to: releaseAddress(repo, saved.tag_name),
        flash: { done: release && !release.draft ? 'The release is changed.' : 'The release is published.' },
      }
    },
    (problem) => formPage(visit, repo, release, draft, { problem }),
  )
}

/** Another upload may have taken the name meanwhile. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}

const draftOf = (release: Release): Draft => ({ ...release, name: release.name ?? '', body: release.body ?? '' })

async function saveFile(visit: SignedIn): Promise<Outcome> {
  const repo = await loadReleasable(visit)
  const release = await loadRelease(visit.db, repo, numberIn(visit.params.id), true)
  return attempt(
    async () => ({ to: editAddress(repo, release), flash: { done: await changeFile(visit, repo, release) } }),
    (problem) => {
      const file = {
        id: Number(visit.params.asset),
        name: typed(visit.form, 'file_name'),
        label: typed(visit.form, 'file_label'),
      }
      return formPage(visit, repo, release, draftOf(release), { problem, file })
    },
  )
}

function draftIn(form: URLSearchParams, repo: Repository): Draft {
  return {
    tag_name: typed(form, 'tag_name'),
    target_commitish: typed(form, 'target_commitish') || repo.default_branch,
    name: typed(form, 'name'),
    body: typed(form, 'body').replaceAll(/\r\n?/g, '\n'),
    prerelease: form.get('prerelease') === 'yes',
  }
}

function checkLengths({ tag_name, target_commitish, name, body }: Draft) {
  const fault = (field: string, message: string) => invalid({ resource: 'Release', code: 'custom', field, message })
  if (!tag_name) throw fault('tag_name', 'A release needs a tag.')
  for (const text of [tag_name, target_commitish, name]) {
    if (text.length > longestName) throw fault('name', `Names have at most ${longestName} characters.`)
  }
  if (body.length > longestNotes) throw fault('body', `Notes have at most ${longestNotes} characters.`)
}

async function remove(visit: SignedIn): Promise<Outcome> {
  const repo = await loadReleasable(visit)
  const release = await loadRelease(visit.db, repo, numberIn(visit.params.id), visitorSeesDrafts(repo))
  await visit.db.transaction((db) => deleteRelease(db, repo, visit.visitor, release))
  return {
    to: `${pathOf(repo)}/releases`,
    flash: { done: `The release ${release.name || release.tag_name} is deleted. Its tag remains.` },
  }
}
