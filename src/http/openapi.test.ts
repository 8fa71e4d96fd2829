import { testAnswers } from '#test/openapi-answers.ts'

testAnswers('self-hosted', [false, true])
