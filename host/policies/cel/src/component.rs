//! The component: exports the policy through WIT.

#[allow(unsafe_code, reason = "generated from the WIT")]
mod bindings {
    use ralph_gate_policy_evidence::component::{Component, bindings};

    type Policy = Component<crate::Cel>;

    bindings::export!(Policy);
}
