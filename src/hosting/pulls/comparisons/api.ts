import { compare, findBoth, mostCommits } from '#git/compare.ts'
import { openComparison } from '#git/diff-text.ts'
import { readCommit } from '#git/objects.ts'
import { writeCommit, writeCommits } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Answer, get, group } from '#http/endpoint.ts'
import { Represented } from '#http/media.ts'
import { notForToken } from '#http/permissions.ts'
import type { Caller } from '#identity/callers.ts'
import { allows } from '#identity/permissions.ts'
import { Refusal } from '#platform/errors.ts'
import { findEnds } from './ends.ts'
import { ComparisonSchema, comparisonJson } from './json.ts'

export const api = group('Comparisons', [
  get(
    '/repos/{owner}/{repo}/compare/{basehead+}',
    {
      permission: 'contents:read',
      viewer: 'optional',
      optional_scopes: ['repo'],
      operation: 'repos/compare-commits-with-basehead',
      refuses: ['conflict'],
      summary:
        'Compare two commits: `base...head`, named by branch, tag or SHA, also of another repository of the network as `owner:branch`',
      list: () => ({ size: mostCommits, largest: mostCommits }),
      media: ['diff', 'patch'],
      answers: { 200: ComparisonSchema },
    },
    async ({ db, storage, caller, repo, params, page, wire, medium, revalidate }) => {
      const { base, head } = await findEnds(db, caller, repo, params.basehead)
      for (const end of [base, head]) checkToken(caller, end.repo)
      if (medium) {
        const [from, to] = await findBoth(storage, base.repo.id, base.name, head.name, head.repo.id)
        return revalidate(
          `${medium} ${from} ${to}`,
          async () => new Represented(medium, await openComparison(storage, base.repo.id, medium, from, to, head.repo.id)),
        )
      }
      // Without parameters, the documented list is that of the newest commits.
      const whole = page.number === 1 && page.size === mostCommits
      const comparison = await compare(storage, base.repo.id, base.name, head.name, head.repo.id, whole ? undefined : page)
      const { merge_base, total_commits: total } = comparison
      if (!merge_base) throw new Refusal('missing', `No common ancestor between ${base.name} and ${head.name}.`)
      const first = await readCommit(storage, base.repo.id, comparison.base)
      const common = await readCommit(storage, base.repo.id, merge_base)
      const commits = {
        base: await writeCommit(db, first, base.repo, wire),
        merge_base: await writeCommit(db, common, base.repo, wire),
        shown: await writeCommits(db, comparison.commits, head.repo, wire),
      }
      const body = comparisonJson(comparison, { base, head }, commits, repo, wire)
      // The documentation has the files on the first page only.
      const shown = page.number === 1 ? body : { ...body, files: [] }
      return new Answer(shown, whole && total > mostCommits ? {} : { total })
    },
  ),
])

function checkToken({ token }: Caller, repo: Repository) {
  if (repo.private && token?.kind === 'fine_grained' && !allows(token.permissions, 'contents:read')) throw notForToken()
}
