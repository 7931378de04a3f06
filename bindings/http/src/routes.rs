//! What is found under which path.

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A function of the JSON face, by its name.
    Function(&'static str),
    /// The description of all paths.
    OpenApi,
    /// Whether the component answers.
    Health,
}

/// One path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The whole path, without a query.
    pub path: &'static str,
    /// What it leads to.
    pub target: Target,
}

impl Route {
    /// The methods that it takes, as the header `allow` lists them.
    pub fn allow(&self) -> &'static str {
        match self.target {
            Target::Function(_) => "POST",
            Target::OpenApi | Target::Health => "GET, HEAD",
        }
    }

    /// Whether it takes a method. Methods are case-sensitive.
    pub fn takes(&self, method: &str) -> bool {
        self.allow().split(", ").any(|known| known == method)
    }
}

/// Every path.
pub const ROUTES: &[Route] = &[
    function("/v1/evaluate-final", "evaluate_final"),
    function("/v1/contract/check", "check_contract"),
    function("/v1/route", "route"),
    function("/v1/promise", "parse_promises"),
    function("/v1/fingerprint", "take_fingerprint"),
    function("/v1/signal", "decide_signal"),
    function("/v1/brief", "write_brief"),
    function("/v1/resume", "resume"),
    function("/v1/snapshot/read", "read_snapshot"),
    function("/v1/prd/read", "read_prd"),
    function("/v1/prd/update", "update_prd"),
    function("/v1/progress/read", "read_progress"),
    function("/v1/progress/write", "write_progress"),
    function("/v1/loop-file/read", "read_loop_file"),
    function("/v1/loop-file/update", "update_loop_file"),
    function("/v1/loop-file/write", "write_loop_file"),
    Route {
        path: OPENAPI,
        target: Target::OpenApi,
    },
    Route {
        path: "/healthz",
        target: Target::Health,
    },
];

/// Where the description of all paths is.
pub const OPENAPI: &str = "/v1/openapi.json";

const fn function(path: &'static str, name: &'static str) -> Route {
    Route {
        path,
        target: Target::Function(name),
    }
}

/// Below this path is every function under its own name, also one that is not there: the gate says so.
pub const CALL: &str = "/v1/call/";

/// The path of a function.
pub fn path_of(function: &str) -> String {
    let is_it = |route: &&Route| matches!(route.target, Target::Function(name) if name == function);
    ROUTES.iter().find(is_it).map_or_else(
        || format!("{CALL}{function}"),
        |route| route.path.to_owned(),
    )
}

/// The route of a path.
pub fn find(path: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.path == path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ralph_gate_component::json;

    use super::*;

    #[test]
    fn every_function_of_the_json_face_has_one_route_and_every_route_its_function() {
        let mut routed: Vec<&str> = ROUTES
            .iter()
            .filter_map(|route| match route.target {
                Target::Function(name) => Some(name),
                Target::OpenApi | Target::Health => None,
            })
            .collect();
        routed.sort_unstable();
        let mut functions: Vec<&str> = json::functions().collect();
        functions.sort_unstable();
        assert_eq!(routed, functions);
    }

    #[test]
    fn no_path_is_there_twice() {
        let paths: BTreeSet<&str> = ROUTES.iter().map(|route| route.path).collect();
        assert_eq!(paths.len(), ROUTES.len());
    }

    #[test]
    fn methods_are_taken_as_the_route_lists_them() {
        let health = find("/healthz").unwrap();
        assert!(health.takes("GET") && health.takes("HEAD"));
        assert!(!health.takes("POST") && !health.takes("get") && !health.takes(""));
        assert!(find("/v1/route").unwrap().takes("POST"));
        assert!(find("/v1/route/").is_none());
    }
}
