import { created, del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { Nothing, NullableString } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { ReleaseSchema, releaseJson } from './json.ts'
import { generateNotes } from './notes.ts'
import {
  createRelease,
  deleteRelease,
  listReleases,
  loadLatestRelease,
  loadRelease,
  loadReleaseByTag,
  updateRelease,
} from './releases.ts'
import { seesDrafts } from './rights.ts'

const options = {
  target_commitish: Type.String({ maxLength: 255 }),
  name: NullableString,
  body: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 125_000 }),
  draft: Type.Boolean(),
  prerelease: Type.Boolean(),
  // Accepted because clients send it. The latest release is always the one published last.
  make_latest: Type.Unsafe<string>({ type: 'string', enum: ['true', 'false', 'legacy'] }),
}
const reading = { permission: 'contents:read', viewer: 'optional' } as const
const writing = { permission: 'contents:write', scopes: ['public_repo', 'repo'], access: 'push', writable: true } as const
const TagName = Type.String({ minLength: 1, maxLength: 255 })

/** Some clients send an empty target for none. */
const withTarget = <T extends { target_commitish?: string }>({ target_commitish, ...rest }: T) => ({
  ...rest,
  ...(target_commitish && { target_commitish }),
})

export const api = group('Releases', [
  get(
    '/repos/{owner}/{repo}/releases',
    {
      operation: 'repos/list-releases',
      ...reading,
      summary: 'List releases, newest first; drafts need push access',
      optional_scopes: ['public_repo', 'repo'],
      ...listOf(ReleaseSchema),
    },
    async ({ db, caller, repo, page, wire }) =>
      paged(await listReleases(db, repo, seesDrafts(repo, caller), page), (release) => releaseJson(release, repo, wire)),
  ),
  post(
    '/repos/{owner}/{repo}/releases',
    {
      operation: 'repos/create-release',
      refuses: ['conflict'],
      ...writing,
      summary: 'Publish a release, or create a draft; a missing tag is created',
      body: Type.Object({
        tag_name: TagName,
        ...Type.Partial(Type.Object({ ...options, generate_release_notes: Type.Boolean() })).properties,
      }),
      own_transaction: true,
      answers: { 201: ReleaseSchema },
    },
    async ({ db, storage, repo, viewer, body: { generate_release_notes, ...given }, wire }) => {
      const wanted = withTarget(given)
      const notes = generate_release_notes && (await generateNotes(db, storage, repo, wire.web, wanted))
      const text = notes && { name: wanted.name ?? notes.name, body: [wanted.body, notes.body].filter(Boolean).join('\n\n') }
      return created(releaseJson(await createRelease(db, storage, repo, viewer, { ...wanted, ...text }), repo, wire))
    },
  ),
  post(
    '/repos/{owner}/{repo}/releases/generate-notes',
    {
      operation: 'repos/generate-release-notes',
      ...writing,
      summary: 'Write the name and the text of a release: what was merged since the previous one. Nothing is stored',
      body: Type.Object({
        tag_name: TagName,
        ...Type.Partial(
          Type.Object({
            target_commitish: options.target_commitish,
            previous_tag_name: Type.String({ maxLength: 255 }),
            // Accepted because clients send it. There is no such file here.
            configuration_file_path: Type.String(),
          }),
        ).properties,
      }),
      own_transaction: true,
      answers: { 200: Type.Object({ name: Type.String(), body: Type.String() }, { title: 'ReleaseNotes' }) },
    },
    ({ db, storage, repo, body, wire }) => generateNotes(db, storage, repo, wire.web, body),
  ),
  get(
    '/repos/{owner}/{repo}/releases/latest',
    {
      operation: 'repos/get-latest-release',
      ...reading,
      summary: 'Get the latest published release that is not a prerelease',
      answers: { 200: ReleaseSchema },
    },
    async ({ db, repo, wire }) => releaseJson(await loadLatestRelease(db, repo), repo, wire),
  ),
  get(
    '/repos/{owner}/{repo}/releases/tags/{tag+}',
    {
      operation: 'repos/get-release-by-tag',
      ...reading,
      summary: 'Get the published release of a tag',
      answers: { 200: ReleaseSchema },
    },
    async ({ db, repo, params, wire }) => releaseJson(await loadReleaseByTag(db, repo, params.tag), repo, wire),
  ),
  get(
    '/repos/{owner}/{repo}/releases/{release_id}',
    {
      operation: 'repos/get-release',
      ...reading,
      summary: 'Get a release',
      optional_scopes: ['public_repo', 'repo'],
      answers: { 200: ReleaseSchema },
    },
    async ({ db, caller, repo, params, wire }) =>
      releaseJson(await loadRelease(db, repo, params.release_id, seesDrafts(repo, caller)), repo, wire),
  ),
  patch(
    '/repos/{owner}/{repo}/releases/{release_id}',
    {
      operation: 'repos/update-release',
      refuses: ['conflict'],
      ...writing,
      summary: 'Change a release; setting draft to false publishes it',
      body: Type.Partial(Type.Object({ tag_name: TagName, ...options })),
      own_transaction: true,
      answers: { 200: ReleaseSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) => {
      const release = await loadRelease(db, repo, params.release_id, true)
      return releaseJson(await updateRelease(db, storage, repo, viewer, release, withTarget(body)), repo, wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/releases/{release_id}',
    {
      operation: 'repos/delete-release',
      ...writing,
      summary: 'Delete a release; its tag remains',
      answers: { 204: Nothing },
    },
    async ({ db, repo, viewer, params }) => deleteRelease(db, repo, viewer, await loadRelease(db, repo, params.release_id, true)),
  ),
])
