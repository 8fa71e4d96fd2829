import { loadOrganization } from '#hosting/organizations/organizations.ts'
import { changeProtection } from '#hosting/protection/protection.ts'
import { noActors, noRules } from '#hosting/protection/rules.ts'
import { addAsset, mostAssetBytes } from '#hosting/releases/assets/assets.ts'
import { createTeam } from '#hosting/teams/create.ts'
import { setTeamAccess, setTeamRole } from '#hosting/teams/teams.ts'
import { levelOf } from '#identity/access.ts'
import * as acts from '#seed/acting.ts'
import { addLabels, addMilestone, closeMilestone, openPull, publishRelease, reviewPull } from '#seed/acting.ts'
import { append, replace, type Stage } from '#seed/stage.ts'
import { type Scene, scene } from './scenes.ts'
import * as files from './towerfiles.ts'

const tower = 'clockwork/tower'
const ledger = 'clockwork/ledger'

export const towerScenes: Scene[] = [
  scene(364, 8, async (stage) => {
    const description = 'The clock in the tower of Bellwater, and its bells'
    await stage.createRepository('cleo', tower, { description, topics: ['bells', 'clock', 'restoration', 'town'] })
    stage.clock.advance(20)
    await stage.push('cleo', tower, [
      { message: 'Build the tower', files: { 'README.md': files.firstReadme, 'bells.json': files.bells(5) } },
      { message: 'Add the license', files: { LICENSE: files.license } },
    ])
    await stage.createRepository('cleo', ledger, { description: 'What the works cost', private: true, topics: ['accounts'] })
    await stage.push('cleo', ledger, [{ message: 'Open the books', files: { 'ledger.csv': 'date,what,cost\n' } }])
  }),
  scene(363, 11, addTeam('Ringers', 'They ring the bells', ['ada', 'esme', 'kofi'], [tower, ledger])),
  scene(362, 9, async (stage) => {
    await addLabels(stage, 'cleo', tower, [
      ['urgent', 'b60205', 'Somebody could get hurt'],
      ['maintenance', 'fbca04', 'Oil, ropes, paint'],
      ['idea', 'c5def5', 'Worth a talk over tea'],
      ['heritage', '5319e7', 'Ask the archive before you touch it'],
    ])
    const due_on = new Date(stage.clock.now().getTime() + 150 * 86_400_000)
    const description = 'All six bells hang, swing and are safe to ring.'
    await addMilestone(stage, 'cleo', tower, 'six-bells', { title: 'Six bells', description, due_on })
  }),
  scene(355, 15, (stage) =>
    stage.push('ada', tower, [
      { message: 'Describe the gear train', files: { 'docs/gears.md': files.gears } },
      { message: 'Draw the tower', files: { 'docs/tower.svg': files.drawing } },
      { message: 'Say how to visit', files: { 'README.md': files.readme } },
    ]),
  ),
  scene(338, 16, (stage) =>
    openPull(stage, 'esme', tower, 'order-of-ringing', {
      title: 'Write down the order of ringing',
      body: 'Before the sixth bell comes, we need a written order.\n\n- [x] rounds\n- [x] calls\n- [ ] a table for the wall',
      branch: 'order-of-ringing',
      reviewers: ['ada'],
      commits: [{ message: 'Write down the order of ringing', files: { 'docs/ringing.md': files.ringing } }],
    }),
  ),
  scene(337, 10, (stage) => reviewPull(stage, 'ada', tower, 'order-of-ringing', 'APPROVE', 'Clear enough to sing from.')),
  scene(337, 12, (stage) => acts.mergeInto(stage, 'cleo', tower, 'order-of-ringing', 'order-of-ringing', 'merge')),
  scene(300, 14, (stage) =>
    stage.push('kofi', tower, [{ message: 'List the ropes and their age', files: { 'docs/ropes.md': files.ropes } }]),
  ),
  scene(246, 9, (stage) =>
    openPull(stage, 'kofi', tower, 'chime', {
      title: 'Compute the chimes from a table',
      body: 'The quarter chimes were a list of 96 lines. This computes them.\n\n```ts\nchimesAt(18, 45) // [[1, 2, 3, 4], …]\n```',
      branch: 'chime-table',
      teams: ['ringers'],
      reviewers: ['cleo'],
      commits: [
        { message: 'Compute the chimes', files: { 'src/chime.ts': files.chime } },
        { message: 'Test the chimes', files: { 'src/chime.test.ts': files.chimeTest } },
      ],
    }),
  ),
  scene(245, 13, (stage) =>
    reviewPull(stage, 'ada', tower, 'chime', 'COMMENT', 'Nice. One question about the hour.', [
      { path: 'src/chime.ts', line: 9, body: 'Does midnight ring twelve times, or not at all? The old clock rang **twelve**.' },
    ]),
  ),
  scene(244, 8, (stage) => acts.comment(stage, 'kofi', tower, 'chime', 'Twelve, as before. `hour % 12 || 12` does that. @ada')),
  scene(244, 10, (stage) => reviewPull(stage, 'cleo', tower, 'chime', 'APPROVE', 'Agreed, twelve.')),
  scene(244, 11, (stage) => acts.mergeInto(stage, 'cleo', tower, 'chime', 'chime-table', 'squash')),
  scene(214, 12, async (stage) => {
    await stage.push('ada', tower, [
      {
        by: 'esme',
        message: 'Hang a sixth bell',
        files: { 'bells.json': files.bells(6), 'docs/ringing.md': append(files.sixth) },
      },
    ])
    stage.clock.advance(30)
    await closeMilestone(stage, 'cleo', tower, 'six-bells')
  }),
  scene(213, 10, async (stage) => {
    const release = await publishRelease(stage, 'cleo', tower, { tag_name: 'v1.0', name: 'Six bells', body: files.notes })
    const store = stage.belfry.files
    const stored = await store.storeContents(chunksOf(files.drawing), mostAssetBytes)
    const asset = { name: 'tower.svg', label: 'Drawing of the tower', content_type: 'image/svg+xml', ...stored }
    await stage.transaction((db) => addAsset(db, store, release, stage.account('cleo'), asset))
  }),
  scene(212, 9, async (stage) => {
    const due_on = new Date(stage.clock.now().getTime() + 260 * 86_400_000)
    const description = 'A chime every 15 minutes, without waking the bakery.'
    await addMilestone(stage, 'cleo', tower, 'quarters', { title: 'Strike the quarters', description, due_on })
  }),
  scene(150, 9, protectMain),
  scene(118, 16, (stage) =>
    openPull(stage, 'ada', tower, 'quiet-hours', {
      title: 'Keep quiet at night',
      body: 'No quarters between 22:00 and 06:00, as promised to the neighbours.',
      branch: 'quiet-hours',
      reviewers: ['esme'],
      commits: [{ message: 'Keep quiet at night', files: { 'src/chime.ts': append(files.quiet) } }],
    }),
  ),
  scene(117, 9, (stage) => reviewPull(stage, 'esme', tower, 'quiet-hours', 'APPROVE', 'The whole street says thank you.')),
  scene(117, 10, (stage) => acts.mergeInto(stage, 'ada', tower, 'quiet-hours', 'quiet-hours', 'rebase')),
  scene(116, 11, (stage) =>
    publishRelease(stage, 'cleo', tower, {
      tag_name: 'v1.1',
      name: 'Quiet nights',
      body: '## Quiet nights\n\nThe quarters are silent from 22:00 to 06:00 ({quiet-hours}). Thanks to @ada and @esme.',
    }),
  ),
  scene(40, 15, (stage) =>
    openPull(stage, 'esme', tower, 'winter-table', {
      title: 'Add the winter timetable',
      body: 'In winter the first bell is at seven. @ada, does the schedule agree? See {quarters-issue}.',
      branch: 'winter-table',
      reviewers: ['ada', 'kofi'],
      commits: [
        { message: 'Add the winter timetable', files: { 'docs/winter.md': files.winter } },
        { message: 'Ring later in winter', files: { 'README.md': replace('06:00 to 22:00', '07:00 to 21:00 in winter') } },
      ],
    }),
  ),
  scene(26, 10, (stage) =>
    reviewPull(stage, 'kofi', tower, 'winter-table', 'REQUEST_CHANGES', 'Two small things, then it can go on the wall.', [
      { path: 'docs/winter.md', line: 5, body: 'The market opens at **half past seven** on Saturdays.' },
      { path: 'docs/winter.md', line: 7, body: 'Could this row say which bell?' },
    ]),
  ),
  scene(24, 9, (stage) =>
    openPull(stage, 'kofi', tower, 'summer-hours', {
      title: 'Name the hours of summer too',
      body: 'The README names one season only.',
      branch: 'summer-hours',
      commits: [
        { message: 'Name the hours of summer', files: { 'README.md': replace('06:00 to 22:00', '06:00 to 23:00 in summer') } },
      ],
    }),
  ),
  scene(23, 9, (stage) => reviewPull(stage, 'ada', tower, 'summer-hours', 'APPROVE', '')),
  // The winter timetable changes the same line, so it conflicts from now on.
  scene(23, 10, (stage) => acts.mergeInto(stage, 'cleo', tower, 'summer-hours', 'summer-hours', 'squash')),
  scene(12, 14, (stage) =>
    openPull(stage, 'lena', tower, 'translation', {
      title: 'Translate the guide for visitors',
      body: 'A first half. I shall go on when the text for {who-rings} is settled.',
      branch: 'translation',
      from: 'lena/tower',
      draft: true,
      commits: [{ message: 'Translate the guide', files: { 'docs/visit.de.md': files.translation } }],
    }),
  ),
  scene(2, 10, (stage) =>
    publishRelease(stage, 'cleo', tower, {
      tag_name: 'v2.0-rc.1',
      name: 'Quarters, first try',
      prerelease: true,
      body: 'Rings the quarters on Saturdays only. Please listen, and write to {quarters-issue} what you heard.',
    }),
  ),
]

async function* chunksOf(text: string) {
  yield Buffer.from(text)
}

/** Creates a team of the organization, with push access to its repositories. */
export function addTeam(name: string, description: string, members: string[], repositories: string[]) {
  return async (stage: Stage) => {
    const cleo = stage.account('cleo')
    const repos = await Promise.all(repositories.map((full_name) => stage.as('cleo', full_name)))
    await stage.transaction(async (db) => {
      const works = await loadOrganization(db, cleo.id, 'clockwork')
      const team = await createTeam(db, { viewer_id: cleo.id, sees_private: true }, works, cleo, {
        name,
        description,
        privacy: 'closed',
      })
      for (const login of members) await setTeamRole(db, cleo, works, team, stage.account(login), 'member')
      for (const { repo } of repos) await setTeamAccess(db, cleo, team, repo, levelOf('push'))
    })
    stage.forgetAccess()
  }
}

async function protectMain(stage: Stage) {
  const { actor, repo } = await stage.as('cleo', tower)
  await stage.transaction((db) =>
    changeProtection(db, actor, repo, 'main', () => ({
      ...noRules,
      required_pull_request_reviews: {
        approvals_count: 1,
        dismiss_stale_reviews: false,
        dismissal_restrictions: null,
        bypass_pull_request_allowances: noActors,
      },
    })),
  )
}
