import { Octokit as Client } from '@octokit/rest'

/** Tests ask for responses that are not a success, and the client would print each. */
export const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** The public client. */
export const Octokit = Client.defaults({ log: silent })
export type Octokit = Client
