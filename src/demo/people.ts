import { setMembership, setMembershipPublic } from '#hosting/organizations/organizations.ts'
import { createOrganization, createUser, updateProfile } from '#hosting/people/people.ts'
import { follow } from '#seed/acting.ts'
import type { Stage } from '#seed/stage.ts'
import { type Scene, scene } from './scenes.ts'

/** Who signs in with a link; the others are there for company. */
export const visitors = ['ada', 'ben', 'cleo', 'dmitri']

const people: Record<string, { name: string; bio: string; location: string; company?: string }> = {
  ada: { name: 'Ada Byron', bio: 'Counts gears, then lets the gears count.', location: 'Bellwater', company: '@clockwork' },
  ben: { name: 'Ben Okafor', bio: 'Physics teacher. I measure how late the clock is.', location: 'Bellwater' },
  cleo: { name: 'Cleo Marchetti', bio: 'Keeper of the tower keys since spring.', location: 'Bellwater', company: '@clockwork' },
  dmitri: { name: 'Dmitri Sorokin', bio: 'Turns things the other way round to see what happens.', location: 'Lower Mill' },
  esme: { name: 'Esme Quill', bio: 'Bell ringer, left-handed.', location: 'Bellwater', company: '@clockwork' },
  farid: { name: 'Farid Noor', bio: 'Blacksmith who writes Rust about rust.', location: 'Forge Lane', company: '@clockwork' },
  greta: { name: 'Greta Lindqvist', bio: 'Runs the bakery below the tower. Needs the six o’clock bell.', location: 'Bellwater' },
  hana: { name: 'Hana Mori', bio: 'Schedulers, timetables, trains.', location: 'Harbour Road', company: '@clockwork' },
  ivo: {
    name: 'Ivo Petrak',
    bio: 'Archivist. If it was drawn on paper, I have it.',
    location: 'Town Hall',
    company: '@clockwork',
  },
  juno: { name: 'Juno Adeyemi', bio: 'Student. First pull request was a comma.', location: 'Lower Mill' },
  kofi: { name: 'Kofi Mensah', bio: 'Ropes, pulleys and tests.', location: 'Bellwater', company: '@clockwork' },
  lena: { name: 'Lena Hartwig', bio: 'Translator. I read manuals for fun.', location: 'Over the river' },
}

export const logins = Object.keys(people)
const members = ['ada', 'esme', 'farid', 'hana', 'ivo', 'kofi']

/** Everybody who is in the story, and the organization, a little more than a year ago. */
export async function gather(stage: Stage, password_hash: string) {
  await stage.transaction(async (db) => {
    for (const [login, { name, ...profile }] of Object.entries(people)) {
      const user = await createUser(db, { login, name, email: `${login}@example.com`, email_verified: true, password_hash })
      stage.accounts.set(login, await updateProfile(db, user, profile))
    }
    const cleo = stage.account('cleo')
    const clockwork = await createOrganization(db, 'clockwork', 'The Clockwork Works', cleo)
    for (const login of members) await setMembership(db, cleo, clockwork, stage.account(login), 'member')
    for (const login of ['cleo', ...members]) await setMembershipPublic(db, clockwork, stage.account(login), true)
    const about = { bio: 'Neighbours who restore the clock of Bellwater, one gear at a time.', location: 'The market square' }
    stage.accounts.set('clockwork', await updateProfile(db, clockwork, about))
  })
}

const follows: [days: number, hour: number, follower: string, followed: string][] = [
  [361, 9, 'ben', 'ada'],
  [360, 10, 'cleo', 'ada'],
  [358, 18, 'dmitri', 'ada'],
  [352, 12, 'ada', 'ben'],
  [340, 8, 'dmitri', 'cleo'],
  [331, 19, 'ada', 'cleo'],
  [320, 20, 'esme', 'cleo'],
  [301, 17, 'farid', 'ada'],
  [288, 7, 'hana', 'ada'],
  [270, 16, 'kofi', 'esme'],
  [255, 21, 'ivo', 'cleo'],
  [231, 9, 'juno', 'hana'],
  [214, 18, 'greta', 'esme'],
  [190, 20, 'lena', 'ada'],
  [166, 10, 'cleo', 'hana'],
  [141, 15, 'ada', 'farid'],
  [120, 11, 'ben', 'farid'],
  [96, 19, 'juno', 'ada'],
  [71, 8, 'ada', 'hana'],
  [47, 20, 'cleo', 'ivo'],
  [25, 12, 'ada', 'kofi'],
  [9, 18, 'greta', 'ada'],
  [3, 17, 'lena', 'cleo'],
]

export const peopleScenes: Scene[] = follows.map(([days, hour, follower, followed]) =>
  scene(days, hour, (stage) => follow(stage, follower, followed)),
)
