// Rows of the errors of approvals, for the table of errors.ts.

export const approvalErrors = {
  'approval-needed': {
    status: 403,
    title: 'Other people must approve this',
    when: 'a rule of the tenant asks for approval of this act, and the request names none',
    detail:
      'Send the request with the header Approval-Reason to ask for approval, and, once it is given, once more with the header Approval and the id of the answer.',
  },
  'approval-refused': {
    status: 403,
    title: 'This person may not do that with the request for approval',
    when: 'somebody decides about their own request, with an old login, or with another digest than that of the request',
    detail: 'Another person decides, who has logged in by a role that the rule names, shortly before, and sends the digest that was shown.',
  },
  'approval-missing': {
    status: 409,
    title: 'Approvals are missing',
    when: 'a request names an approval to which fewer people have agreed than its rules need at present',
    detail: 'Wait until more people have approved, then send the request again.',
  },
  'approval-void': {
    status: 409,
    title: 'The approval does not count',
    when: 'an approval is used, rejected, withdrawn, expired, of somebody else or of another request',
    detail: 'Ask for approval again, with the request as it is to be sent.',
  },
  'last-approver': {
    status: 409,
    title: 'The last approvers of a rule',
    when: 'without the people of a role or an approle that is to go, or to let in others, too few could approve by a rule',
    detail: 'Name other approvers in the rule first.',
  },
} as const;
