import { listTagCommits, resolveCommit } from '#git/objects.ts'
import { renderTexts } from '#hosting/mentions/views/render-texts.ts'
import { listTags } from '#hosting/refs/commits.ts'
import { deleteRef } from '#hosting/refs/refs.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { banner } from '#web/components/toast.ts'
import { alert, attempt, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, show, submitOwn, type Visit } from '#web/page.ts'
import { countDownload, loadAssetByName } from './assets/assets.ts'
import {
  findLatestId,
  findPreviousTag,
  findReleaseByTag,
  findReleasedTags,
  listReleases,
  loadLatestRelease,
  type Release,
} from './releases.ts'
import { mayRelease, visitorSeesDrafts } from './rights.ts'
import { releasesHead, tagList, tagPage } from './views/lists.ts'
import { releaseAddress, releaseView, type ShownRelease } from './views/release.ts'

/** A tag may contain slashes. */
export const pages: PageRoute[] = [
  show('/:owner/:repo/releases', releasesPage),
  show('/:owner/:repo/tags', (visit) => tagsPage(visit)),
  submitOwn('/:owner/:repo/tags/delete', deleteTag),
  show('/:owner/:repo/releases/latest', async (visit) => {
    const repo = await loadVisibleRepository(visit)
    return { to: releaseAddress(repo, (await loadLatestRelease(visit.db, repo)).tag_name) }
  }),
  show('/:owner/:repo/releases/tag/*', releasePage),
  show('/:owner/:repo/releases/download/*', download),
]

const perPage = 10
const tagsPerPage = 30

async function releasesPage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const { db, belfry } = visit
  const page = pageIn(visit.query)
  const path = `${pathOf(repo)}/releases`
  // One more, because a release is compared with the one before it.
  const slice = { limit: perPage + 1, offset: (page - 1) * perPage }
  const { rows, total } = await listReleases(db, repo, visitorSeesDrafts(repo), slice)
  const releases = rows.slice(0, perPage)
  const latest = await findLatestId(db, repo)
  const tags = new Map(releases.length ? (await listTagCommits(belfry.storage, repo.id)).map(({ name, sha }) => [name, sha]) : [])
  const texts = await renderTexts(
    visit,
    repo,
    releases.map(({ body }) => body),
  )
  const list = releases.map((release, index) => {
    const previous_tag = rows.slice(index + 1).find(({ draft }) => !draft)?.tag_name
    const shown = {
      release,
      notes: texts[index] ?? html``,
      is_latest: release.id === latest,
      sha: tags.get(release.tag_name),
      previous_tag,
    }
    return releaseView(repo, shown, 'h2')
  })
  const body = html`<main>${banner(visit.flash.done)}${releasesHead(repo, 'releases')}${list.length ? list : noReleases(repo)}${pager(path, {}, page, Math.ceil(total / perPage))}</main>`
  return {
    title: `Releases · ${repo.owner_login}/${repo.name}`,
    body,
    above: repositoryHeader(repo, 'releases'),
    feed: `${path}.atom`,
  }
}

const noReleases = (repo: Repository): Html =>
  emptyState(
    'rocket',
    'No releases yet',
    'A release has notes and files for one version of the code.',
    mayRelease(repo) ? buttonLink('Create the first release', `${pathOf(repo)}/releases/new`, { kind: 'primary' }) : undefined,
  )

async function tagsPage(visit: Visit, problem?: Problem): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const page = pageIn(visit.query)
  const path = `${pathOf(repo)}/tags`
  const { rows, total } = await listTags(visit.belfry.storage, repo, { limit: tagsPerPage, offset: (page - 1) * tagsPerPage })
  const released = await findReleasedTags(
    visit.db,
    repo,
    rows.map(({ name }) => name),
  )
  const list = rows.length
    ? tagList(visit, repo, rows, released)
    : emptyState('tag', 'No tags yet', 'A tag names one commit, such as a version. Push one with git, or create a release.')
  return {
    title: `Tags · ${repo.owner_login}/${repo.name}`,
    body: html`<main class="tags-page">${banner(visit.flash.done)}${releasesHead(repo, 'tags')}${alert(problem)}${list}${pager(path, {}, page, Math.ceil(total / tagsPerPage))}</main>`,
    ...(problem && { status: problem.status }),
    above: repositoryHeader(repo, 'releases'),
    feed: `${path}.atom`,
  }
}

async function deleteTag(visit: SignedIn): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const name = typed(visit.form, 'tag')
  return attempt(
    async () => {
      checkAccess(repo.access, 'push')
      checkWritable(repo)
      await deleteRef(visit.db, visit.belfry.storage, repo, visit.visitor, `tags/${name}`)
      return { to: `${pathOf(repo)}/tags`, flash: { done: `The tag ${name} is deleted.` } }
    },
    (problem) => tagsPage(visit, problem),
  )
}

/** A release or, if its tag has none, the tag. */
async function releasePage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const tag = visit.params['*'] ?? ''
  if (tag.includes('\0')) throw missing()
  const release = await findReleaseByTag(visit.db, repo, tag, visitorSeesDrafts(repo))
  const sha = tag ? await resolveCommit(visit.belfry.storage, repo.id, `refs/tags/${tag}`) : undefined
  if (!release && !sha) throw missing()
  if (release) await markShown(visit, sql`s.release_id = ${release.id}`)
  const body = release
    ? html`<main>${banner(visit.flash.done)}${releaseView(repo, await showRelease(visit, repo, release, sha), 'h1')}</main>`
    : tagPage(repo, tag, sha ?? '')
  return {
    title: `${release?.name || tag} · ${release ? 'Release' : 'Tag'} · ${repo.owner_login}/${repo.name}`,
    body,
    above: repositoryHeader(repo, 'releases'),
    feed: `${pathOf(repo)}/releases.atom`,
  }
}

async function showRelease(visit: Visit, repo: Repository, release: Release, sha: string | undefined): Promise<ShownRelease> {
  const [notes = html``] = await renderTexts(visit, repo, [release.body])
  const is_latest = (await findLatestId(visit.db, repo)) === release.id
  return { release, notes, is_latest, sha, previous_tag: await findPreviousTag(visit.db, release) }
}

/** A file of a published release. The last part of the path is its name, because a tag may contain slashes. */
async function download(visit: Visit): Promise<Outcome> {
  const { db, belfry, params } = visit
  const repo = await loadVisibleRepository(visit)
  const [, tag = '', name = ''] = /^(.+)\/([^/]+)$/.exec(params['*'] ?? '') ?? []
  if (`${tag}${name}`.includes('\0')) throw missing()
  const asset = await loadAssetByName(db, repo, tag, name)
  const signed = await belfry.files.signedUrl(asset.oid, asset.name)
  if (signed) {
    await countDownload(db, asset)
    return { to: signed.href }
  }
  const file = await belfry.files.open(asset.oid)
  if (!file) throw new Error(`the store of large files has lost ${asset.oid}`)
  await countDownload(db, asset)
  const headers = { 'Content-Length': String(asset.size), 'Content-Disposition': `attachment; filename="${asset.name}"` }
  return { file, headers }
}
